import { Problem } from "../../../../../src/foundation/errors.ts";
import type { AgentHosts } from "../../../../../src/foundation/contracts/run-hosts.ts";
import { aDeniedHost } from "../../broken-state.ts";
import { sharedBrowser } from "../../open-page.ts";
import { withDetail } from "../../with-detail.ts";

const open = sharedBrowser();
const path = "/dashboard/agents/dev";

function withHosts(...denied: AgentHosts["denied"]) {
  const deps = withDetail();
  deps.operations.deniedHosts = denied;
  return deps;
}

test("a denied host is allowed after its config line was shown", async () => {
  const { deps, shows, press } = await open(
    path,
    withHosts(
      aDeniedHost("db.lan", { port: 5432 }),
      aDeniedHost("down.test", { denied: "unreachable", entry: null }),
    ),
  );
  const { calls } = deps.operations;
  await shows({ "#hosts-list li": 2, "#hosts-list button": 1 });
  await press("Allow for this agent … db.lan:5432");
  await shows({ "#allow-dialog": /agents\/dev\/config\.toml.*\+allow = \[ "db\.lan:5432" \]/ });
  expect(calls.filter((call) => call.startsWith("allowHost"))).toEqual([
    "allowHost dev db.lan 5432 false true",
  ]);
  await press("Save changes");
  await shows({ "#hosts-list": /allowed by now/ });
  expect(calls.at(-1)).toBe("allowHost dev db.lan 5432 false false");
  await shows({ "#allow-dialog": false });
});

test("a rejected Allow of a host is shown; no dialog opens", async () => {
  const { deps, shows, press } = await open(path, withHosts(aDeniedHost("api.evil.test")));
  deps.operations.refusal = new Problem("invalid_config", "the file has an error");
  await press(/^Allow for this agent … api/);
  await shows({ ".toast": /the file has an error/, "#allow-dialog": false });
});
