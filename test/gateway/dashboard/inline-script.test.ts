import { Script } from "node:vm";
import { expect, test } from "vitest";
import { inlineScript } from "../../../src/gateway/dashboard/inline-script.ts";

test.each(["overview", "log", "agent", "triggers"])(
  "the script of the %s page is one valid script",
  (name) => {
    const script = inlineScript(name);
    expect(script).not.toMatch(/^(import|export) /m);
    // A name that two modules use would be declared twice.
    expect(() => new Script(`"use strict";{${script}}`)).not.toThrow();
  },
);

test("a module that several import is in it once, before them", () => {
  const script = inlineScript("overview");
  expect(script.match(/^function setText\(/gm)).toHaveLength(1);
  expect(script.indexOf("function setText(")).toBeLessThan(
    script.indexOf("function showSnapshot("),
  );
});
