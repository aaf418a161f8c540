import { ticketSchema } from "../../foundation/contracts/remote-run.ts";
import { hostAndPortOf } from "./host-and-port.ts";

/** The name by which a closed run reaches its engine's relay. */
export const relayAlias = "al-door";

/** The ticket of a run that reaches the door by the relay alone, which listens on the door's port. */
export function ticketByRelay(ticket: string): string {
  const { door, ...rest } = ticketSchema.parse(JSON.parse(ticket));
  return JSON.stringify({ ...rest, door: `${relayAlias}:${hostAndPortOf(door).port}` });
}
