import type { WhyNot } from "../../src/foundation/contracts/refused-deliveries.ts";

/** Of an agent that nothing kept from running. */
export const emptyWhyNot: WhyNot = {
  now: [],
  refused: [],
  turnedAway: [],
  refusedDeliveries: [],
  lookedBackTo: null,
};
