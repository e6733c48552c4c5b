"""Tests of mutants.py: what is changed, and what is left alone."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from mutants import mutants


def changed(text: str) -> list[str]:
    return [mutant.apply(text) for mutant in mutants(text)]


class Operators(unittest.TestCase):
    def test_arithmetic_becomes_its_opposite(self):
        self.assertEqual(changed("a + b"), ["a - b"])
        self.assertEqual(changed("a * b % c"), ["a / b % c", "a * b * c"])
        self.assertEqual(changed("a += b;"), ["a -= b;"])

    def test_a_comparison_moves_its_boundary_and_turns_round(self):
        self.assertEqual(changed("a < b"), ["a <= b", "a >= b"])
        self.assertEqual(changed("a == b"), ["a != b"])

    def test_counting_goes_the_other_way(self):
        self.assertEqual(changed("++r"), ["--r"])

    def test_templates_pointers_references_and_arrows_are_not_operators(self):
        for text in ("std::vector<int> x;", "std::byte* p;", "F&& f", "a->b", "const T& t"):
            self.assertEqual(changed(text), [], text)

    def test_a_sign_is_not_a_subtraction(self):
        self.assertEqual(changed("f(-x)"), [])

    def test_an_operator_at_a_line_end_counts(self):
        self.assertEqual(changed("a +\n    b"), ["a -\n    b"])

    def test_a_spaceship_stays_whole(self):
        self.assertEqual(changed("auto operator<=>(A, B) = default;"), [])
        self.assertEqual(changed("a <=> b"), [])


class Constants(unittest.TestCase):
    def test_a_number_grows_and_shrinks_by_one(self):
        self.assertEqual(changed("f(2)"), ["f(3)", "f(1)"])

    def test_zero_only_grows(self):
        self.assertEqual(changed("f(0)"), ["f(1)"])

    def test_digit_separators_hexadecimal_and_suffixes_are_read(self):
        self.assertEqual(changed("f(1'000)"), ["f(1001)", "f(999)"])
        self.assertEqual(changed("f(0x10u)"), ["f(17u)", "f(15u)"])

    def test_floats_and_names_with_digits_are_left_alone(self):
        for text in ("f(1.5)", "f(1e-9)", "f32", "x2 = y3;"):
            self.assertEqual(changed(text), [], text)


class MemoryOrders(unittest.TestCase):
    def test_orders_become_weaker(self):
        self.assertEqual(
            changed("x.store(y, std::memory_order_release);"),
            ["x.store(y, std::memory_order_relaxed);"],
        )
        self.assertEqual(
            changed("x.load(std::memory_order::acquire);"),
            ["x.load(std::memory_order::relaxed);"],
        )

    def test_a_name_like_an_order_is_no_order(self):
        self.assertEqual(changed("lock.acquire();"), [])

    def test_relaxed_is_left_alone(self):
        self.assertEqual(changed("x.load(std::memory_order_relaxed);"), [])


class LeftAlone(unittest.TestCase):
    def test_comments_strings_characters_and_preprocessor_lines(self):
        for text in (
            "// a + 1",
            "/* a\n + 1 */",
            'f("a + 1");',
            "f('1');",
            "#define X 1 + \\\n  2",
            'R"(a + 1)"',
        ):
            self.assertEqual(changed(text), [], text)

    def test_code_after_a_comment_is_found_at_its_line(self):
        (only,) = mutants("// why: 1 + 1\na + b\n")
        self.assertEqual((only.line, only.before, only.after), (2, "+", "-"))


if __name__ == "__main__":
    unittest.main()
