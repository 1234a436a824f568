"""Schedules with the text of their program, as dicts."""
import json
from pathlib import Path

here = Path(__file__).parent
lines = lambda name: [json.loads(line) for line in (here / name).open(encoding="utf-8")]
texts = {p["program"]: p["text"] for p in lines("programs.jsonl")}
schedules = [{**s, "text": texts[s["program"]]} for s in lines("schedules.jsonl")]
if __name__ == "__main__":
    print(len(texts), len(schedules), schedules[0]["clock"])
