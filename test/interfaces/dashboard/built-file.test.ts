import { readdirSync } from "node:fs";
import { Script } from "node:vm";
import { expect, test } from "vitest";
import { builtFile } from "../../../src/interfaces/dashboard/built-file.ts";

test.each(["overview", "log", "agent", "run", "triggers", "cost"])(
  "the script of the %s page is one valid script",
  (name) => {
    const script = builtFile(`browser/${name}.js`);
    expect(script).not.toMatch(/^(import|export) /m);
    expect(() => new Script(`"use strict";{${script}}`)).not.toThrow();
  },
);

test("the script of no page has zod, which is more than the rest of it", () => {
  const folder = new URL("../../../dist/src/interfaces/dashboard/browser/", import.meta.url);
  const scripts = readdirSync(folder).map((name) => ({ name, text: builtFile(`browser/${name}`) }));
  expect(scripts.filter(({ text }) => /zod/i.test(text)).map(({ name }) => name)).toEqual([]);
});

test("a file that was not built is named, with what to do", () => {
  expect(() => builtFile("browser/absent.js")).toThrow(
    /^browser\/absent\.js is missing in \/.*: build the program with npm run build$/,
  );
});
