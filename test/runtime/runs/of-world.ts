import type { Answer } from "../../../src/foundation/contracts/questions.ts";
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

/** Ada answers the world's open question. */
export async function answer(world: World, given: Answer) {
  const { id } = await openedQuestion(world);
  return world.questions.answer(id, given, { via: "slack", name: "Ada", from: null });
}
