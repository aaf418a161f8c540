import { createGatewayListener } from "../../../src/interfaces/gateway/listener.ts";
import { createStatusStore } from "../../../src/foundation/scheduler/status-store.ts";
import type { AgentConfig } from "../../../streams/agent-config.ts";
import type { RunEvent } from "../../../streams/vocabulary.ts";
import { project } from "../../foundation/config/samples.ts";
import { schedulerStatus } from "../../streams/status/board.ts";
import { eventsOf } from "../../streams/status/events.ts";

const inContainer: Partial<AgentConfig> = { runtime: { type: "container", runAs: "$USER" } };
const dev = eventsOf("dev");

interface SetUp {
  readonly disabled?: readonly string[];
  /** Whether somebody else listens on its port. */
  readonly taken?: boolean;
  /** The project's `config.toml`. */
  readonly text?: string;
  readonly host?: string;
  readonly port?: number;
}

/** What listens in a project without webhooks, in which the agents named are disabled. */
function setUp({ disabled = [], taken = false, text = "", ...address }: SetUp = {}) {
  const opened: string[] = [];
  const warnings: string[] = [];
  const notes: string[] = [];
  const project$ = { value: project(text) };
  const port = { isTaken: taken };
  const board = createStatusStore(schedulerStatus, (name) => ({
    enabled: !disabled.includes(name),
  }));
  const listening = createGatewayListener({
    gateway: {
      listenTcp: (settings) => {
        const url = `http://localhost:${settings?.port ?? 0}`;
        opened.push("tcp");
        return port.isTaken
          ? Promise.reject(new Error("port 8080 is in use"))
          : Promise.resolve(url);
      },
      listenUnix: () => Promise.resolve(void opened.push("unix")),
      close: () => Promise.resolve(),
    },
    options: { webUi: false, host: "127.0.0.1", ...address },
    socketPath: "/tmp/operator.sock",
    project$,
    status: board,
    announce: () => undefined,
    note: (message) => void notes.push(message),
    warn: (message) => void warnings.push(message),
  });
  const happens = (event: RunEvent): void => {
    board.apply(event);
    listening.onEvent(event);
  };
  const edit = (after: string): void => {
    project$.value = project(after);
    listening.onProject();
  };
  return { opened, happens, edit, port, warnings, notes, listening };
}

test("the gateway opens TCP once for agents in containers, and not for others", async () => {
  const { opened, happens, listening } = setUp();
  await listening.open();
  happens(dev.set());
  expect(opened).toEqual(["unix"]);
  happens(dev.set(inContainer));
  happens(eventsOf("other").set(inContainer));
  expect(opened).toEqual(["unix", "tcp"]);
});

test("the gateway opens TCP for a disabled agent only when it is enabled", async () => {
  const { opened, happens, listening } = setUp({ disabled: ["dev"] });
  await listening.open();
  happens(dev.set(inContainer));
  happens(eventsOf("other").set({ ...inContainer, scale: 0 }));
  expect(opened).toEqual(["unix"]);
  happens(dev.enabled(true));
  expect(opened).toEqual(["unix", "tcp"]);
});

test("a port in use does not end a start that needs it only for containers, and is tried again", async () => {
  const { happens, warnings, listening } = setUp({ taken: true });
  happens(dev.set(inContainer));
  await listening.open();
  expect(warnings).toEqual(["the gateway can't listen: port 8080 is in use"]);
  happens(eventsOf("other").set(inContainer));
  await expect.poll(() => warnings).toHaveLength(2);
});

test("a port in use ends a start with webhooks", async () => {
  const { listening } = setUp({ taken: true, text: '[webhooks.github]\ntype = "github"' });
  await expect(listening.open()).rejects.toThrow("port 8080 is in use");
});

test.each([
  ["127.0.0.1", 0],
  ["localhost", 0],
  ["0.0.0.0", 1],
  ["192.168.1.4", 1],
])("listening on TCP at %s logs %i warnings", async (host, times) => {
  const { warnings, happens, listening } = setUp({ host });
  await listening.open();
  expect(warnings).toEqual([]);
  happens(dev.set(inContainer));
  await Promise.resolve();
  expect(warnings).toHaveLength(times);
  for (const warning of warnings)
    expect(warning).toContain(`${host}, and the API key is sent over`);
});

test("a port that changes before TCP is opened applies, and the address is logged when it is opened", async () => {
  const { happens, edit, notes, listening } = setUp();
  await listening.open();
  edit("[gateway]\nport = 9090");
  expect([listening.isSettled(), listening.url()]).toEqual([false, null]);
  happens(dev.set(inContainer));
  expect(listening.isSettled()).toBe(true);
  await expect.poll(() => notes).toEqual(["the gateway listens at http://localhost:9090"]);
  expect(listening.url()).toBe("http://localhost:9090");
});

test("the gateway opens a new port of the config in place of one in use", async () => {
  const { happens, edit, port, warnings, notes, listening } = setUp({ taken: true });
  await listening.open();
  happens(dev.set(inContainer));
  await expect.poll(() => warnings).toHaveLength(1);
  expect(listening.isSettled()).toBe(false);
  port.isTaken = false;
  edit("[gateway]\nport = 9090");
  await expect.poll(() => notes).toEqual(["the gateway listens at http://localhost:9090"]);
});

test("listening from the start is not logged, as the start prints it", async () => {
  const { notes, listening } = setUp({ text: '[webhooks.github]\ntype = "github"' });
  await listening.open();
  expect(listening.isSettled()).toBe(true);
  expect([listening.url(), notes]).toEqual(["http://localhost:8080", []]);
});

test("--port logs a warning only if the gateway does not open TCP", async () => {
  const idle = setUp({ port: 9000 });
  await idle.listening.open();
  expect(idle.warnings).toEqual([expect.stringMatching(/^--port has no effect yet: .*--web-ui/)]);
  const used = setUp({ port: 9000, text: '[webhooks.github]\ntype = "github"' });
  await used.listening.open();
  expect(used.warnings).toEqual([]);
});
