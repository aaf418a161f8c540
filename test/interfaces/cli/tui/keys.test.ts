import type { Key } from "ink";
import { bindings, commandOf, keyNames } from "../../../../src/interfaces/cli/tui/keys.ts";

/** Flags that are absent are false. */
const noKey = {} as Key;

test("no key has two commands", () => {
  const keys = bindings.flatMap((binding) => binding.keys);
  expect(new Set(keys).size).toBe(keys.length);
});

test.each([
  ["j", {}, ["down"]],
  ["", { downArrow: true }, ["down"]],
  ["", { return: true }, ["log"]],
  ["c", { ctrl: true }, ["interrupt"]],
  ["K", { shift: true }, ["kill"]],
  ["k", {}, ["up"]],
])("the key %j with %j means %j", (input, flags, commands) => {
  expect(keyNames(input, { ...noKey, ...flags }).map(commandOf)).toEqual(commands);
});

test("keys typed faster than they are read are all executed", () =>
  expect(keyNames("jj\r\n\u001a", noKey)).toEqual(["j", "j", "enter", "enter", "ctrl-z"]));

test("Alt with a letter is not the letter", () =>
  expect(keyNames("q", { ...noKey, meta: true })).toEqual([]));
