import { timer } from "rxjs";
import { createSlots } from "../../../streams/runs/slots.ts";
import type { Marbles } from "../../helpers/marbles.ts";
import { closed, expectQueue, held, open, type Drawing, type More } from "./queue-drawing.ts";

/** t, u and v are ticks, w is one of an earlier scheduler. The project's only slot is free from the 7th column on. */
const ticks = ({ scheduler }: Marbles): More => {
  const slots = createSlots(1);
  const slot = slots.tryTake();
  timer(7, scheduler).subscribe(() => slot?.[Symbol.dispose]());
  return {
    slots,
    isTick: (item) => "tuvw".includes(item),
    mayWait: (item) => !"tuv".includes(item),
  };
};

test.each<[does: string, limits: Parameters<typeof expectQueue>[0], drawing: Drawing]>([
  [
    "replaces an earlier tick that waits",
    open(9, 1),
    {
      items: "  -tauv|",
      queued: " -tauv------------|",
      skipped: "---tu------------|",
      depth: "  -12----1----0----|",
      ran: "    -------V----A----|",
    },
  ],
  [
    "is skipped while its agent is busy, also if an earlier tick waits",
    open(9, 1),
    { items: "-at-------u---|", skipped: "----------u------|", ran: "-------A----T----|" },
  ],
  [
    "does not count towards the queue's size and is not dropped from a full queue",
    open(1, 1),
    { items: "-atbc|", dropped: "---ab------------|", ran: "-------T----C----|" },
  ],
  [
    "keeps waiting while its queue is held, and a later tick is skipped",
    { o: open(9, 1), h: held(9) },
    { items: "-t--u", limits: "o--h-----o", skipped: "----u", ran: "---------T" },
  ],
  [
    "is dropped from a closed queue",
    { o: open(9, 1), x: closed },
    { items: "-at", limits: "o--x", dropped: "---(at|)" },
  ],
  [
    "of an earlier scheduler waits while its queue is held, until a later tick waits for a slot",
    { o: open(0, 1), h: held(0) },
    { items: "-w-t", limits: "h-o", queued: "-w-t", skipped: "---w", ran: "-------T" },
  ],
])("a cron tick %s", (_does, limits, drawing) => expectQueue(limits, { ...drawing, more: ticks }));
