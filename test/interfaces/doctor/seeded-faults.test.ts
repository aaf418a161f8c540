import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CheckFinding } from "../../../src/interfaces/doctor/run-checks.ts";
import { configFaults } from "./config-faults.ts";
import { fileFaults } from "./file-faults.ts";
import { machineFaults } from "./machine-faults.ts";
import { rootFaults } from "./root-faults.ts";
import { secretFaults } from "./secret-faults.ts";
import { makeWard } from "./support.ts";
import type { Ward } from "./support.ts";

let ward: Ward;
let open: { close(): unknown }[];
beforeEach(async () => {
  ward = await makeWard();
  open = [];
});
afterEach(() => {
  for (const one of open) one.close();
  ward.remove();
});

const close = (one: { close(): unknown }) => void open.push(one);
const theWard = () => ward;
const faults = [
  ...configFaults(theWard),
  ...secretFaults(theWard),
  ...fileFaults(theWard, close),
  ...machineFaults(theWard, close),
  ...rootFaults(theWard, close),
];

describe("the doctor", () => {
  test.each(faults)("finds $name, and its fix cures it", async (fault) => {
    await fault.seed();
    const isIt = ({ severity, what }: CheckFinding) =>
      severity === fault.severity && fault.says.test(what);
    const before = ward.fingerprint();
    const findings = await ward.runChecks();
    const finding = findings.find(isIt);
    expect(finding?.fix, JSON.stringify(findings)).toMatch(fault.fix);
    expect(ward.fingerprint()).toBe(before);
    if (finding === undefined) return;
    if (fault.repair === undefined) {
      const { code, output } = await ward.bash(finding.fix ?? "");
      expect({ code, output }).toMatchObject({ code: 0 });
    } else await fault.repair(finding);
    const isBad = ({ severity, check }: CheckFinding) =>
      check === finding.check && ["error", "warning"].includes(severity);
    expect((await ward.runChecks()).filter(isBad)).toEqual([]);
  });
});
