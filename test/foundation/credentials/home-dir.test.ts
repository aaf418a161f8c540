import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { homeDir } from "../../../src/foundation/credentials/home-dir.ts";

describe("homeDir", () => {
  it("is in the user's home", () => {
    expect(homeDir({})).toBe(join(homedir(), ".almanac"));
    expect(homeDir({ AL_HOME: "" })).toBe(join(homedir(), ".almanac"));
  });

  it("is where AL_HOME says, as an absolute path", () => {
    expect(homeDir({ AL_HOME: "/srv/al" })).toBe("/srv/al");
    expect(homeDir({ AL_HOME: "al" })).toBe(resolve("al"));
  });
});
