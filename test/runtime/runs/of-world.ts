import type { World } from "./world.ts";

/** The instances that run an agent, in the order in which they were started. */
export function instancesOf(world: World, agent: string): string[] {
  return world.events.flatMap((event) =>
    event.type === "started" && event.agent === agent ? [event.instanceId] : [],
  );
}

/** The world's latest open question, once there is one. */
export function openedQuestion(world: World) {
  return vi.waitFor(() => {
    const [question] = world.questions.list({ state: "open", limit: 1 });
    if (question === undefined) throw new Error("no question is open");
    return question;
  }, 10_000);
}
