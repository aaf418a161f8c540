import { createSlots, type Slot, type Slots } from "../../../streams/runs/slots.ts";

function take(slots: Slots): Slot {
  const slot = slots.tryTake();
  if (slot === null) throw new Error("no slot is free");
  return slot;
}

test("the slots of a project are offered in the order of requests, without overtaking", () => {
  const slots = createSlots(1);
  let slot: Slot | null = slots.tryTake();
  const order: string[] = [];
  const taker = (name: string) => () => {
    slot = slots.tryTake();
    if (slot !== null) order.push(name);
  };
  slots.wait(taker("a"));
  slots.wait(taker("b"));
  slot?.[Symbol.dispose]();
  expect(order).toEqual(["a"]);
  slot?.[Symbol.dispose]();
  expect(order).toEqual(["a", "b"]);
  slots.wait(taker("c"));
  expect(slots.tryTake()).toBeNull();
});

test("the number of a project's slots grows at once, and shrinks without affecting used slots", () => {
  const slots = createSlots(1);
  const first = take(slots);
  let second: Slot | null = null;
  slots.wait(() => (second = slots.tryTake()));
  slots.resize(2);
  expect(second).not.toBeNull();
  slots.resize(1);
  first[Symbol.dispose]();
  expect(slots.tryTake()).toBeNull();
  (second as Slot | null)?.[Symbol.dispose]();
  expect(slots.tryTake()).not.toBeNull();
});

test("a slot released by a suspended run is free for others; once it is free again, that run gets it before new runs", () => {
  const slots = createSlots(1);
  const suspended = take(slots);
  suspended.release();
  suspended.release();
  const other = take(slots);
  const order: string[] = [];
  slots.wait(() => slots.tryTake() && order.push("newcomer"));
  suspended.reacquire(() => order.push("suspended"));
  expect(order).toEqual([]);
  other[Symbol.dispose]();
  expect(order).toEqual(["suspended"]);
  expect(slots.tryTake()).toBeNull();
  suspended[Symbol.dispose]();
  expect(order).toEqual(["suspended", "newcomer"]);
});

test("a run that ends while it waits to reacquire its slot releases the slot once", () => {
  const slots = createSlots(1);
  const suspended = take(slots);
  suspended.release();
  const other = take(slots);
  let back = 0;
  suspended.reacquire(() => back++);
  suspended[Symbol.dispose]();
  suspended[Symbol.dispose]();
  other[Symbol.dispose]();
  expect(back).toBe(0);
  expect(slots.tryTake()).not.toBeNull();
  expect(slots.tryTake()).toBeNull();
});
