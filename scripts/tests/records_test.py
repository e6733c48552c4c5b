"""The documents about the records say what the program writes."""

import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COLLMARK = os.environ.get("COLLMARK", str(ROOT / "build/collmark"))
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def is_type(value, name):
    if isinstance(value, bool) and name != "boolean":
        return False  # to Python, true is an int
    return isinstance(value, TYPES[name])


def faults(value, schema, where="run"):
    """What `value` violates of the part of JSON Schema that results/run.schema.json uses."""
    if "const" in schema and value != schema["const"]:
        yield f"{where}: {value!r} is not {schema['const']!r}"
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_type(value, name) for name in types):
        yield f"{where}: {value!r} is no {' or '.join(types)}"
        return
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{where}: {value!r} does not match {schema['pattern']}"
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        yield from (f"{where}: lacks {key}" for key in schema.get("required", []) if key not in value)
        for key, item in value.items():
            if key in properties:
                yield from faults(item, properties[key], f"{where}.{key}")
            elif schema.get("additionalProperties") is False:
                yield f"{where}: unknown key {key}"
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from faults(item, schema.get("items", {}), f"{where}[{i}]")


def section(title):
    """The column names in the table below a heading of docs/records.md."""
    text = (ROOT / "docs/records.md").read_text().split(f"## {title}\n")[1].split("\n## ")[0]
    names = [line.split("|")[1] for line in text.splitlines() if line.startswith("| ")][1:]
    return [name.strip() for cell in names for name in cell.split(",")]


class Records(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.csv = Path(cls.folder.name) / "x.csv"
        cls.samples = Path(cls.folder.name) / "s.csv"
        subprocess.run(
            [
                COLLMARK,
                "sweep",
                "--ranks",
                "2",
                "--sizes",
                "8",
                "--algorithm",
                "ring",
                "-n",
                "2",
                "-w",
                "0",
                "--csv",
                cls.csv,
                "--samples",
                cls.samples,
            ],
            check=True,
            capture_output=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "SOME_PASSWORD": "hunter2"},
        )
        cls.run_record = json.loads((Path(cls.folder.name) / "x.run.json").read_text())

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_every_column_is_explained_in_order(self):
        for path, title in ((self.csv, "results.csv"), (self.samples, "samples.csv")):
            self.assertEqual(section(title), path.read_text().splitlines()[0].split(","))

    def test_run_json_follows_its_schema(self):
        schema = json.loads((ROOT / "results/run.schema.json").read_text())
        self.assertEqual(list(faults(self.run_record, schema)), [])

    def test_the_schema_notices_what_is_missing_or_wrong(self):
        schema = json.loads((ROOT / "results/run.schema.json").read_text())
        for change in ({"seed": "1"}, {"complete": 1}, {"run_id": "x"}, {"surplus": 0}):
            self.assertEqual(len(list(faults({**self.run_record, **change}, schema))), 1, change)
        del self.run_record["timer"]["call_ns"]
        self.assertEqual(len(list(faults(self.run_record, schema))), 1)
        self.run_record["timer"]["call_ns"] = 25.0

    def test_only_variables_that_matter_are_recorded(self):
        self.assertEqual(self.run_record["environment"].get("OMP_NUM_THREADS"), "1")
        self.assertNotIn("hunter2", json.dumps(self.run_record))


if __name__ == "__main__":
    unittest.main()
