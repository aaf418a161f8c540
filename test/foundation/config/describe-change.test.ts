import { describe, expect, it } from "vitest";
import { describeChange } from "../../../src/foundation/config/describe-change.ts";
import { agent, usualAgent, usualProject } from "./samples.ts";

/** What is said when the agent's files change from the usual ones. */
function change(config: string, skill?: string, projectText = usualProject): string {
  const given = skill === undefined ? { projectText } : { skill, projectText };
  return describeChange(agent(usualAgent), agent(config, given));
}

describe("describeChange", () => {
  it("says both values, in one line", () => {
    const config = `${usualAgent.replace("0 9", "0 8")}scale = 2\ncatchUp = "latest"`;
    expect(change(config)).toBe(
      'schedule "0 9 * * *" → "0 8 * * *", catchUp "none" → "latest", scale 1 → 2',
    );
  });

  it("says nothing when nothing changed", () => {
    expect(change(`# a comment\n${usualAgent}`)).toBe("");
  });

  it("names keys as the files do", () => {
    const config = `${usualAgent.replace("[]", '["github_token"]')}timeout = 5\nmaxWorkQueueSize = 6\nwaitTimeout = 7`;
    expect(change(config)).toBe(
      'credentials [] → ["github_token"], timeout 900 → 5, maxWorkQueueSize 100 → 6, waitTimeout 1800 → 7',
    );
  });

  it("does not repeat what is long or private", () => {
    const config = `${usualAgent}[[webhooks]]\nsource = "hub"\n[hooks]\npre = ["x"]\n[params]\na = "b"`;
    const skill = "---\nname: Other\ndescription: New\n---\nDo that.";
    expect(change(config, skill)).toBe(
      'name "Developer" → "Other", description changed, SKILL.md changed, webhooks changed, hooks changed, params changed',
    );
  });

  it("tells another model from another setting of it", () => {
    expect(change(usualAgent.replace('"main"', '"main", "cheap"'))).toBe(
      'models ["main"] → ["main", "cheap"]',
    );
    const projectText = usualProject.replace("sonnet", "opus");
    expect(change(usualAgent, undefined, projectText)).toBe('settings of model "main" changed');
  });

  it("says what runs it, where and by what", () => {
    const config = `${usualAgent}[harness]\ntype = "llm-cli"\n[runtime]\ntype = "host-user"`;
    expect(change(config)).toBe(
      'harness.type "pi" → "llm-cli", runtime.type "container" → "host-user"',
    );
    expect(change(`${usualAgent}[runtime]\nrun_as = "me"`)).toBe(
      'runtime.run_as "al-agent" → "me"',
    );
    expect(describeChange(agent(usualAgent), { ...agent(usualAgent), dockerfileHash: "a" })).toBe(
      "files of its image changed",
    );
  });

  it("says that a schedule went", () => {
    expect(change(usualAgent.replace(/schedule.*/, "scale = 0"))).toBe(
      'schedule "0 9 * * *" → none, scale 1 → 0',
    );
  });
});
