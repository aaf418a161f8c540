import { isUntrusted } from "../../../streams/triggers/trust.ts";

describe("trust in a run", () => {
  test.each<[string, readonly string[] | null, boolean]>([
    ["without a delivery is trusted", null, false],
    ["whose deliveries are all by trusted people is trusted", ["mona", "hubot"], false],
    ["of a person who is not listed is untrusted", ["mona", "mallory"], true],
    ["of a delivery without a name is untrusted", ["mona", ""], true],
    ["with an empty list of names is untrusted", [], true],
    ["of a person whose name differs in case is untrusted", ["Mona"], true],
  ])("a run %s", (_, names, expected) => {
    expect(isUntrusted(names, ["mona", "hubot", "ada"])).toBe(expected);
  });

  test("an empty entry of the list trusts no delivery without a name", () => {
    expect(isUntrusted([""], [""])).toBe(true);
  });
});
