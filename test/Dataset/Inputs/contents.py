"""contents.py DATABASE: what a database of trajectories has, without numbers that depend on the order or the time."""

import hashlib
import json
import sqlite3
import sys

database = sqlite3.connect(sys.argv[1])
query = """
  SELECT t.workload, t.candidate, t.status, t.reason, t.place, s.place, coalesce(a.text, ''), coalesce(x.hash, '')
  FROM trajectory t LEFT JOIN step s ON s.trajectory = t.id
  LEFT JOIN action a ON a.id = s.action LEFT JOIN state x ON x.id = s.state
  ORDER BY t.workload, t.candidate, s.place"""
rows = database.execute(query).fetchall()
records = database.execute(
    "SELECT workload, candidate, status, round FROM record ORDER BY workload, candidate"
).fetchall()
count = lambda table: database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: E731
print("workloads", count("workload"))
print("trajectories", count("trajectory"))
print("records", count("record"))
digest = hashlib.sha256(json.dumps([rows, records]).encode()).hexdigest()
print("states", count("state"), "actions", count("action"), "digest", digest[:16])
