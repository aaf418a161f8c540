import { describeChange } from "../../../src/foundation/config/agent-view.ts";
import { describeProjectChange } from "../../../src/foundation/config/describe-project-change.ts";
import { agent, agentChange, project, refusal, usualAgent } from "./samples.ts";

const kept = (size: string) => `[artifacts]\nmaxBytes = "${size}"\n`;

describe("[artifacts].maxBytes", () => {
  test.each([
    ["0", 0],
    ["300", 300],
    ["1.5k", 1536],
    ["50m", 52_428_800],
    ["2G", 2_147_483_648],
  ])("%s is %i bytes, of an agent and of the project", (size, bytes) => {
    expect(agent(`${usualAgent}${kept(size)}`).artifactsBytes).toBe(bytes);
    expect(project(kept(size)).artifactsBytes).toBe(bytes);
  });

  test("refuses other texts", () => {
    expect(refusal(agentChange(`${usualAgent}${kept("many")}`))).toContain("artifacts.maxBytes");
  });

  test("is described by its text when it changes", () => {
    const [before, after] = [agent(usualAgent), agent(`${usualAgent}${kept("1536k")}`)];
    expect(describeChange(before, after)).toContain('artifacts.maxBytes "50m" → "1536k"');
    const { text } = describeProjectChange(project(""), project(kept("300m")));
    expect(text).toBe('artifacts.maxBytes "2g" → "300m"');
  });
});
