import { readdirSync } from "node:fs";
import { Script } from "node:vm";
import { builtFile } from "../../../src/interfaces/dashboard/send-page.tsx";

test.each(["pages/overview", "pages/agent", "pages/log", "pages/private-host"])(
  "the script of the %s page is one valid script",
  (name) => {
    const { text: script } = builtFile(`${name}.js`);
    expect(script).not.toMatch(/^(import|export) /m);
    expect(() => new Script(`"use strict";{${script}}`)).not.toThrow();
  },
);

test("no page's script includes zod, which is larger than the rest", () => {
  const built = new URL("../../../dist/src/interfaces/dashboard/", import.meta.url);
  const scripts = readdirSync(new URL("pages", built)).map((name) => `pages/${name}`);
  expect(scripts.filter((name) => /zod/i.test(builtFile(name).text))).toEqual([]);
});

test("builtFile rejects a file that was not built with the command that builds it", () =>
  expect(() => builtFile("pages/absent.js")).toThrow(
    /^pages\/absent\.js is missing in \/.*: build the program with npm run build$/,
  ));
