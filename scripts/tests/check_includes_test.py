"""Tests of check_includes.py."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import check_includes


class AgainstTheArrow(unittest.TestCase):
    def test_a_folder_may_include_itself_and_those_before_it(self):
        text = '#include "topologies/link.hpp"\n#include "collectives/schedule.hpp"\n'
        self.assertEqual(check_includes.against_the_arrow("collectives", text), [])

    def test_a_folder_after_it_is_reported_with_its_line(self):
        text = '#include <vector>\n  #  include "bench/sweep.hpp"  // why\n'
        self.assertEqual(
            check_includes.against_the_arrow("collectives", text),
            [(2, '#  include "bench/sweep.hpp"  // why')],
        )

    def test_a_comment_about_an_include_is_no_include(self):
        self.assertEqual(check_includes.against_the_arrow("topologies", '// not #include "bench/a.hpp"\n'), [])


class Check(unittest.TestCase):
    def test_the_complaint_names_file_and_line(self):
        with tempfile.TemporaryDirectory() as name:
            root = Path(name)
            (root / "topologies").mkdir()
            (root / "topologies" / "x.hpp").write_text('#include "kernels/y.hpp"\n')
            complaints, files = check_includes.check(root)
        self.assertEqual(files, 1)
        self.assertEqual(len(complaints), 1)
        self.assertTrue(complaints[0].startswith("topologies/x.hpp:1: "), complaints[0])

    def test_every_kind_of_source_in_this_tree_is_read(self):
        root = Path(__file__).resolve().parents[2]
        kinds = {path.suffix for folder in check_includes.ARROW for path in (root / folder).rglob("*")}
        self.assertLessEqual(kinds - {"", ".txt", ".csv", ".md"}, check_includes.SOURCES)

    def test_a_tree_without_sources_is_refused(self):
        with tempfile.TemporaryDirectory() as name:
            self.assertEqual(check_includes.main([name]), 2)


if __name__ == "__main__":
    unittest.main()
