import { expect, test } from "vitest";
import { createListening } from "../../src/start/listening.ts";
import { createStatusBoard } from "../../src/start/status-board.ts";
import type { AgentConfig, RunEvent } from "../../streams/vocabulary.ts";
import { project } from "../config/samples.ts";
import { schedulerStatus } from "../streams/status/board.ts";
import { eventsOf } from "../streams/status/events.ts";

const inContainer: Partial<AgentConfig> = { runtime: { type: "container", runAs: "$USER" } };
const dev = eventsOf("dev");

/** What listens in a project without webhooks, in which the agents named are disabled. */
async function setUp(disabled: readonly string[] = []) {
  const opened: string[] = [];
  const board = createStatusBoard(schedulerStatus, (name) => ({
    enabled: !disabled.includes(name),
  }));
  const listening = createListening({
    gateway: {
      listenTcp: () => Promise.resolve(`http://localhost:${8079 + opened.push("tcp")}`),
      listenUnix: () => Promise.resolve(void opened.push("unix")),
      close: () => Promise.resolve(),
    },
    own: {
      lock: { announce: () => undefined, isHeld: () => true, release: () => undefined },
      socketPath: "/tmp/operator.sock",
      startedAt: "2026-11-21T00:00:00.000Z",
    },
    webUi: false,
    project$: { value: project("") },
    board,
    version: "0.1.0",
    warn: () => undefined,
  });
  await listening.open();
  const happens = (event: RunEvent): void => {
    board.apply(event);
    listening.see(event);
  };
  return { opened, happens };
}

test("TCP is opened for an agent in a container, once, and not for one without", async () => {
  const { opened, happens } = await setUp();
  happens(dev.set());
  expect(opened).toEqual(["unix"]);
  happens(dev.set(inContainer));
  happens(eventsOf("other").set(inContainer));
  expect(opened).toEqual(["unix", "tcp"]);
});

test("TCP stays closed for an agent that is disabled, and is opened when it is enabled", async () => {
  const { opened, happens } = await setUp(["dev"]);
  happens(dev.set(inContainer));
  happens(eventsOf("other").set({ ...inContainer, scale: 0 }));
  expect(opened).toEqual(["unix"]);
  happens(dev.enabled(true));
  expect(opened).toEqual(["unix", "tcp"]);
});
