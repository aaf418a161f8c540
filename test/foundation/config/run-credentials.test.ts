import { expect, it } from "vitest";
import { alertCredentialTypes } from "../../../src/foundation/contracts/alert-credentials.ts";
import { agentChange, said, usualAgent } from "./samples.ts";

const references = Object.values(alertCredentialTypes).flatMap((type) => [type, `${type}:mine`]);

it.each(references)("an agent can't have %j, by which alerts are sent", (credential) => {
  const config = usualAgent.replace("credentials = []", `credentials = ["${credential}"]`);
  expect(said(agentChange(config))).toEqual([
    `error: agents/dev/config.toml:2:16  credentials[0] is "${credential}"; expected a credential for runs; one of this type is the scheduler's, for alerts, so store what the agent needs under another type`,
  ]);
});
