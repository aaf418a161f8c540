import type { Script } from "../../../../src/foundation/contracts/job.ts";
import { openSocket, socketSide } from "../../run-api/support.ts";
import { exitOf, messagesOf } from "../contract.ts";
import { aRequest } from "../shell-runs.ts";
import { aScripted } from "../../harness/jobs.ts";
import { testEngine } from "../../../helpers/docker.ts";
import { agentEvents, programImages } from "./agent-events.ts";
import { eventsOf } from "./support.ts";

const { engine, missing } = await testEngine();

describe.skipIf(missing !== null)("a real session in a container without network", () => {
  const images = programImages(engine);
  const bash = (command: string) => ({ name: "bash", arguments: { command } });

  /** Each run is over before the next one. */
  const { instanceId } = aRequest("dev");

  async function played(turns: Script["turns"], given: Parameters<typeof agentEvents>[3] = {}) {
    const job = { instanceId, models: [aScripted(turns)] };
    const all = await agentEvents(engine, images(), job, given);
    return { all, text: JSON.stringify(all), exit: exitOf(all) };
  }

  test("starts from the compile cache of the image, which it can't write", async () => {
    const rehearse = "AL_INSTANCE=build AL_FILL_CACHE=1 al _run-agent build";
    const script = `NODE_DEBUG_NATIVE=COMPILE_CACHE ${rehearse} >/tmp/log 2>&1; grep -c 'reading cache' /tmp/log; grep -c 'was accepted' /tmp/log`;
    const local = () => ({ memory: "512m", cpus: 2, network: "none" });
    const all = await eventsOf(engine, aRequest(script), { images: images(), local });
    const [loaded = "", accepted] = messagesOf(all);
    expect(Number(loaded)).toBeGreaterThan(10);
    expect(accepted).toBe(loaded);
  });

  test("makes requests by tools and commands, over a socket in a read-only folder", async () => {
    const side = await socketSide();
    onTestFinished(side.remove);
    const resource = "file:/data/report";
    const look =
      "bash -lc 'command -v rlock'; env; ls /run/al; stat -c %A /run/al/channel.sock; touch /run/al/x";
    const turns = [
      { tools: [{ name: "al_lock", arguments: { resource } }] },
      { tools: [bash(`rlock ${resource} --wait 2; al-return '[7]'; ${look}`)] },
      { tools: [bash("al-exit 3; sleep 30")] },
    ];
    const channel = await openSocket(side, instanceId);
    const { text, exit } = await played(turns, { channel });
    expect(side.abilities.asked.map(({ request }) => request)).toEqual([
      { resource },
      { resource, waitSeconds: 2 },
    ]);
    for (const seen of ["/usr/local/bin/rlock", "srw-rw-rw-", "Read-only file system"]) {
      expect(text).toContain(seen);
    }
    expect(text).not.toContain(channel.token);
    expect(exit).toMatchObject({ exitCode: 3, value: [7] });
  });
});
