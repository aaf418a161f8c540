import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { openBridge } from "../../../../../src/runtime/harness/bridge/bridge.ts";
import { writeTrust } from "../../../../../src/runtime/harness/network.ts";
import { perTest } from "../../../../helpers/per-test.ts";
import { tempDir } from "../../../../helpers/temp-dir.ts";
import { host, openedTunnels, secret, sentinel } from "./opened-tunnels.ts";

const { made, headersOf } = openedTunnels();
const dir = perTest(tempDir);

/** Runs a command as an agent of the run does, behind the run's proxy. */
async function shell(command: string) {
  await using bridge = await openBridge(made().run);
  const trust = { authority: made().ca, certificates: null, workDir: dir() };
  const env = {
    ...(await writeTrust(trust)),
    PATH: process.env.PATH ?? "",
    HOME: dir(),
    HTTPS_PROXY: bridge.proxyUrl,
    https_proxy: bridge.proxyUrl,
    NODE_USE_ENV_PROXY: "1",
    GITHUB_TOKEN: sentinel,
  };
  return await promisify(execFile)("bash", ["-ec", command], { env, cwd: dir() });
}

describe("with a placeholder in place of a token", () => {
  test.each([
    ["curl", `curl -sS -H "Authorization: token $GITHUB_TOKEN" https://${host}/user`],
    [
      "python3",
      `python3 -c 'import os, urllib.request as u; print(u.urlopen(u.Request("https://${host}/user", headers={"Authorization": "token " + os.environ["GITHUB_TOKEN"]})).read().decode())'`,
    ],
    [
      "Node",
      `"${process.execPath}" -e 'fetch("https://${host}/user", { headers: { authorization: "token " + process.env.GITHUB_TOKEN } }).then((a) => a.text()).then(console.log)'`,
    ],
  ])("%s calls an API", async (_tool, command) => {
    made().side.hosts.answer = ({ headers }, response) =>
      void response.end(`heard ${headers.authorization}`);
    const { stdout } = await shell(command);
    expect(headersOf("authorization")).toEqual([[`token ${secret}`]]);
    expect(stdout).toContain(`heard token ${sentinel}`);
  });

  test("pip logs in to its index", async () => {
    const index = `https://x:$GITHUB_TOKEN@${host}/simple`;
    // There is nothing in the index.
    await shell(`! python3 -m pip download -q --no-deps --index-url ${index} some-package`);
    expect(headersOf("authorization").flat()).toContain(`Basic ${btoa(`x:${secret}`)}`);
  });
});
