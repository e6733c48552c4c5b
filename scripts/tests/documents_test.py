"""The documents name the commands and flags that the program has, and files that are there."""

import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from program import ROOT, CommandLineTest

REFERENCE = ROOT / "docs" / "command-line.md"
FOLDERS = ["", "docs/**/", "results/**/", "collectives/**/"]
DOCUMENTS = [path for folder in FOLDERS for path in ROOT.glob(folder + "*.md")]
AS = re.compile(r"as `(\w+)`")  # a default that stands in another command's table

# Environment variables that make faults for tests to find, and one between two of a script's own processes.
FOR_TESTS = {"COLLMARK_TEST_ABSENT_RANK", "COLLMARK_TEST_CORRUPT", "COLLMARK_TEST_START_MS", "COLLMARK_STUB_DEVICES",
             "COLLMARK_STUB_FAULT", "COLLMARK_STUB_NCCL_FAULT", "COLLMARK_STUB_NVML_FAULT",
             "COLLMARK_STUB_NVML_HELD_BACK", "COLLMARK_STUB_SHAPE", "COLLMARK_STUB_STEP_NS", "COLLMARK_STUB_VISIBLE",
             "COLLMARK_STUB_DRIVER", "COLLMARK_STUB_NCCL"}  # fmt: skip
OWN_USE = {"COLLMARK_CLUSTER_STATE"}


def variables() -> set[str]:
    """Names that sources but those of tests read from the environment: ours wherever they stand as words (they may be
    read by another name), others where getenv has them."""
    found, macros = set(), set()
    for folder in ("bench", "collectives", "kernels", "topologies"):
        for source in (ROOT / folder).glob("**/*"):
            if source.suffix in {".cpp", ".hpp", ".cu", ".cuh"} and not source.stem.endswith("_test"):
                text = source.read_text(encoding="utf-8")
                found |= set(re.findall(r'"(COLLMARK_[A-Z0-9_]+)"', text))
                macros |= set(re.findall(r"#define (COLLMARK_[A-Z0-9_]+)", text))
                if "/stub_" not in str(source):
                    found |= set(re.findall(r'getenv\("(\w+)"\)', text))
    for script in (ROOT / "scripts").glob("*"):
        if script.suffix in {".py", ".sh"}:
            text = script.read_text(encoding="utf-8")
            found |= set(re.findall(r'(?:"|\$|\$\{)(COLLMARK_[A-Z0-9_]+)', text))
    return found - macros


def offered(help_text: str) -> dict[str, str]:
    """Every flag of a --help, long or alone, and its default; "" if it has none."""
    flags = {}
    for line in help_text.splitlines():
        option = re.match(r"  ((?:-\w,)?--[\w-]+|-\w)(?: [A-Z]+(?::[^=]*?)?(?:=(\S+))?)?(?: |$)", line)
        if option:
            for name in option[1].split(","):
                flags[name] = option[2] or ""
    del flags["-h"], flags["--help"]
    return flags


def sections(text: str) -> dict[str, str]:
    """What stands under each heading "### `command`"."""
    parts = re.split(r"^(##+ .*)$", text, flags=re.MULTILINE)
    return {h[5:-1]: body for h, body in zip(parts[1::2], parts[2::2], strict=True) if re.fullmatch(r"### `\w+`", h)}


def tabled(section: str) -> dict[str, str]:
    """Every flag in the first column of a section's tables, and the last cell of its row."""
    flags = {}
    for row in re.findall(r"^\| *(`-.*) \|$", section, re.MULTILINE):
        cells = re.split(r" *\| *", row)
        for name in re.findall(r"`([^`]+)`", cells[0]):
            flags[name] = cells[-1]
    return flags


def examples(text: str) -> list[tuple[str, list[str]]]:
    """(command, flags) of every `collmark COMMAND ...`, in a block or in a sentence."""
    found = []
    commands = re.findall(r"^ {4}(?:.*?[ /(])?(collmark [a-z].*)$", text, re.MULTILINE)
    commands += re.findall(r"`(?:build/)?(collmark [a-z][^`]*)`", text)
    for words in commands:
        own = re.split(r" {3,}|\"", words)[0]  # what follows explains the example, or belongs to a shell
        found.append((own.split()[1], re.findall(r"(?<= )--?[a-z][\w-]*", own)))
    return found


def anchors(text: str) -> set[str]:
    """GitHub's names of the headings: lower case, hyphens for spaces, most signs left out."""
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


class Reference(CommandLineTest):
    """docs/command-line.md beside --help."""

    @classmethod
    def setUpClass(cls):
        cls.sections = sections(REFERENCE.read_text(encoding="utf-8"))

    def commands(self):
        listed = self.assert_ok("--help").split("Subcommands:\n")[1].split("\n\n")[0]
        return re.findall(r"^  (\w+) ", listed, re.MULTILINE)

    def test_every_command_has_a_section_and_every_section_a_command(self):
        self.assertEqual(sorted(self.sections), sorted(self.commands()))

    def test_every_flag_is_in_its_commands_table_and_every_flag_there_exists(self):
        for command in self.commands():
            flags = offered(self.assert_ok(command, "--help"))
            self.assertEqual(sorted(tabled(self.sections[command])), sorted(flags), command)

    def test_defaults_are_those_of_the_program(self):
        for command in self.commands():
            for name, default in offered(self.assert_ok(command, "--help")).items():
                cell = tabled(self.sections[command])[name]
                if other := AS.fullmatch(cell):
                    cell = tabled(self.sections[other[1]])[name]
                if default:
                    self.assertIn(default, cell.split(), f"{command} {name}")

    def test_environment_variables_that_the_program_reads_are_listed(self):
        text = REFERENCE.read_text(encoding="utf-8").split("## Environment variables\n")[1].split("\n## ")[0]
        (tests,) = [line for line in text.splitlines() if line.endswith("| tests only: faults that must be found |")]
        read = variables()
        self.assertLessEqual({"COLLMARK_CUDA_DRIVER", "COLLMARK_CLUSTER_HOSTS", "TERM", *FOR_TESTS}, read)
        for name in sorted(read - OWN_USE):
            listed = "`COLLMARK_STUB_...`" if name.startswith("COLLMARK_STUB_") else f"`{name}`"
            self.assertIn(listed, tests if name in FOR_TESTS else text.replace(tests, ""), name)

    def test_every_section_has_an_example(self):
        for command, body in self.sections.items():
            self.assertIn(f"    collmark {command}", body)


class Examples(CommandLineTest):
    def test_examples_in_all_documents_use_flags_that_the_command_has(self):
        known = {}
        seen = 0
        for document in DOCUMENTS:
            for command, flags in examples(document.read_text(encoding="utf-8")):
                if command not in known:
                    known[command] = offered(self.assert_ok(command, "--help"))
                for flag in flags:
                    self.assertIn(flag, known[command], f"{document.name}: collmark {command}")
                    seen += 1
        self.assertGreater(seen, 100)


class Links(unittest.TestCase):
    def test_links_between_documents_lead_to_a_file_and_to_a_heading(self):
        for document in DOCUMENTS:
            text = document.read_text(encoding="utf-8")
            for link in re.findall(r"\]\(([^)\s]+)\)", text):
                if link.startswith("http"):
                    continue
                path, _, anchor = link.partition("#")
                target = document.parent / path if path else document
                self.assertTrue(target.exists(), f"{document.name}: {link}")
                if anchor:
                    self.assertIn(anchor, anchors(target.read_text(encoding="utf-8")), f"{document.name}: {link}")

    def test_files_of_the_repository_that_are_named_exist(self):
        folders = "bench|cmake|collectives|docs|kernels|results|scripts|topologies"
        for document in DOCUMENTS:
            text = document.read_text(encoding="utf-8")
            for name in re.findall(
                rf"(?<![\w/.-])((?:{folders})/[\w/.-]*\w\.(?:cpp|hpp|cu|cuh|def|md|py|sh|csv|cmake))\b", text
            ):
                self.assertTrue((ROOT / name).exists(), f"{document.name}: {name}")


if __name__ == "__main__":
    unittest.main()
