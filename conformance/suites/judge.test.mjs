// A judge that lets everything pass is worse than none.

import assert from "node:assert/strict";
import { test } from "node:test";

import { judge } from "./judge.mjs";

const suite = { scenarios: { ping: 2 }, beyond: { tasks: "an extension" } };
const checks = (...statuses) => statuses.map((status) => ({ id: "id", status, description: "", errorMessage: "" }));
const verdict = (...entries) => judge(suite, new Map(entries));
const remark = (...entries) => verdict(...entries).rows[0].remark;

test("a scenario passes with as many successful checks as are expected, and a log beside them", () => {
  const { good, judged, passed, rows } = verdict(["ping", checks("SUCCESS", "INFO", "SUCCESS")]);
  assert.deepEqual({ good, judged, passed }, { good: true, judged: 1, passed: 1 });
  const { name, total, remark, troubles } = rows[0];
  assert.deepEqual({ name, total, remark, troubles }, { name: "ping", total: 2, remark: "", troubles: [] });
});

test("it fails when it did not run, or broke down", () => {
  assert.equal(remark(), "did not run");
  assert.equal(remark(["ping", []]), "2 checks have to pass");
  assert.equal(verdict().good, false);
});

test("it fails with fewer successful checks, and with more", () => {
  assert.equal(remark(["ping", checks("SUCCESS")]), "2 checks have to pass");
  assert.equal(remark(["ping", checks("SUCCESS", "INFO")]), "2 checks have to pass");
  assert.equal(remark(["ping", checks("SUCCESS", "SUCCESS", "SUCCESS")]), "2 checks have to pass");
});

test("it fails with a check that failed, warned or was skipped, and says which", () => {
  for (const status of ["FAILURE", "WARNING", "SKIPPED"]) {
    const { good, rows } = verdict(["ping", checks("SUCCESS", "SUCCESS", status)]);
    assert.equal(good, false);
    assert.equal(rows[0].remark, "not all passed");
    assert.deepEqual(rows[0].troubles.map((trouble) => trouble.status), [status]);
  }
});

test("a scenario that nobody expects fails", () => {
  const { good, judged, passed, rows } = verdict(["ping", checks("SUCCESS", "SUCCESS")], ["new", checks("SUCCESS")]);
  assert.deepEqual({ good, judged, passed }, { good: false, judged: 2, passed: 1 });
  assert.equal(rows[1].remark, "is not in expected/suites.json");
});

test("an extension's scenario is shown and not judged", () => {
  const { good, judged, rows } = verdict(["ping", checks("SUCCESS", "SUCCESS")], ["tasks", checks("FAILURE")]);
  assert.deepEqual({ good, judged }, { good: true, judged: 1 });
  assert.equal(rows[1].remark, "not judged: an extension");
});
