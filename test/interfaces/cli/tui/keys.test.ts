import type { Key } from "ink";
import { bindings, commandOf, keyNames } from "../../../../src/interfaces/cli/tui/keys.ts";

/** Flags that are absent are false. */
const noKey = {} as Key;

test("each key of the live view has one command", () => {
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
])("the live view reads the key %j with %j as the commands %j", (input, flags, commands) => {
  expect(keyNames(input, { ...noKey, ...flags }).map(commandOf)).toEqual(commands);
});

test("keyNames returns each key of several in one read", () =>
  expect(keyNames("jj\r\n\u001a", noKey)).toEqual(["j", "j", "enter", "enter", "ctrl-z"]));

test("keyNames ignores a letter with Alt", () =>
  expect(keyNames("q", { ...noKey, meta: true })).toEqual([]));
