import { parse } from "smol-toml";
import { edited, parseKey, parseSetting } from "../../../src/foundation/config/edit-toml.ts";

test.each([
  ["scale=2", ["scale"], 2],
  ["schedule=0 9 * * 1-5", ["schedule"], "0 9 * * 1-5"],
  ['models=["a", "b"]', ["models"], ["a", "b"]],
  ["runtime.run_as=$USER", ["runtime", "run_as"], "$USER"],
  ['models."gpt-4.1".provider=openai', ["models", "gpt-4.1", "provider"], "openai"],
  ["params.equation=a=b", ["params", "equation"], "a=b"],
  ["params.empty=", ["params", "empty"], ""],
])("parseSetting reads %s", (text, path, value) =>
  expect(parseSetting(text)).toEqual({ path, value }),
);

test.each(["scale", "=2", "a b=2", "a..b=2"])("parseSetting rejects %s", (text) => {
  expect(() => parseSetting(text)).toThrow(/is not a (setting|key)/);
});

test("editing a TOML text keeps the comments after arrays, also empty ones", () => {
  const text = 'a = [] # none\nb = 1 # one\nc = [ ] # nothing\nd = ["x"] # some\n';
  const result = edited(text, [{ path: ["b"], value: 2 }]);
  expect(result).toBe('a = [] # none\nb = 2 # one\nc = [] # nothing\nd = ["x"] # some\n');
  const filled = edited(text, [
    { path: ["a"], value: ["y"] },
    { path: ["d"], value: [] },
  ]);
  expect(parse(filled)).toEqual({ a: ["y"], b: 1, c: [], d: [] });
  for (const comment of ["none", "some"]) expect(filled).toContain(`# ${comment}`);
});

test("editing a TOML text does not change quoted text", () => {
  const text = 'a = "x = [] # no"\nb = """\ny = [] # no\n"""\n';
  const result = edited(text, [{ path: ["c"], value: 1 }]);
  expect(parse(result)).toEqual({ ...parse(text), c: 1 });
});

test.each([
  ["", "at the beginning"],
  ["a = 1 # one\n", "after keys"],
  ["a = 1 # one\n\n[b]\nc = []\n", "after a table"],
])("editing the TOML text %j adds a list of tables %s", (text) => {
  const hooks = [{ source: "hub", events: ["issues"] }, { source: "other" }];
  const result = edited(text, [
    { path: ["hooks"], value: hooks },
    { path: ["lists"], value: [["x"], []] },
  ]);
  expect(parse(result)).toEqual({ ...parse(text), hooks, lists: [["x"], []] });
  expect(result).toContain(text === "" ? "" : "a = 1 # one\n");
});

test("editing a text that is not TOML is rejected", () =>
  expect(() => edited("a = = 1\n", [{ path: ["b"], value: 1 }])).toThrow("not valid TOML"));

test("parseKey reads a quoted key", () =>
  expect(parseKey('models."a.b"')).toEqual(["models", "a.b"]));
