import { counted } from "../../../foundation/contracts/format.ts";
import { announce, post } from "./actions.ts";
import { askFirst } from "./ask-first.ts";

/** Makes a button that kills an agent's runs; returns how to show it for so many. */
export function wireKill(button: HTMLElement, name: string): (running: number) => void {
  const kills = askFirst(button, async () => {
    const answer = await post(`/control/agents/${encodeURIComponent(name)}/kill`);
    if (answer !== null) announce(`Killed ${counted(answer.killed ?? 0, "run")} of ${name}`);
  });
  return (running) => {
    const runs = counted(running, "run");
    button.hidden = running === 0;
    const label = `Kill ${runs} of ${name}`;
    kills.show({ text: "Kill", label, question: `Really kill ${runs}?` });
  };
}
