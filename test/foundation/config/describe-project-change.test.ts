import { describe, expect, it } from "vitest";
import { describeProjectChange } from "../../../src/foundation/config/describe-project-change.ts";
import { project, usualProject } from "./samples.ts";

const change = (text: string) => describeProjectChange(project(usualProject), project(text));

describe("describeProjectChange", () => {
  it("says nothing when nothing changed", () => {
    expect(change(usualProject)).toEqual({ text: "", needsRestart: false });
  });

  it("says which keys and tables changed", () => {
    const text = `workQueueSize = 5\ntimezone = "UTC"\n[local]\ntimeout = 60\n${usualProject
      .replace("[models.cheap]", "[models.other]")
      .replace("sonnet", "opus")
      .replace('[webhooks.hub]\ntype = "github"', '[webhooks.hub]\ntype = "sentry"')}`;
    expect(change(text)).toEqual({
      text: '[models.main] changed, [models.cheap] removed, [models.other] added, local.timeout 900 → 60, [webhooks.hub] changed, workQueueSize 100 → 5, timezone "Europe/Berlin" → "UTC"',
      needsRestart: false,
    });
  });

  it.each([
    ["port = 9090", "gateway.port 8080 → 9090"],
    ['host = "0.0.0.0"', 'gateway.host "127.0.0.1" → "0.0.0.0"'],
    ['allowedHosts = ["a.example"]', 'gateway.allowedHosts [] → ["a.example"]'],
    ["trustProxy = true", "gateway.trustProxy false → true"],
    ["maxBodyBytes = 2048", "gateway.maxBodyBytes 26214400 → 2048"],
  ])("needs a restart for %s", (line, text) => {
    expect(change(`${usualProject}[gateway]\n${line}`)).toEqual({ text, needsRestart: true });
  });

  it("says that the limit of runs went", () => {
    expect(describeProjectChange(project("scale = 1"), project("")).text).toBe("scale 1 → none");
  });
});
