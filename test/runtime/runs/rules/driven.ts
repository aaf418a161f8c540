import { Observable } from "rxjs";
import { createClock } from "../../../../streams/clock.ts";
import { drive } from "../../../../src/foundation/drive.ts";
import type { Machine } from "../../../../streams/machine.ts";
import type { Marbles } from "../../../helpers/marbles.ts";

/** The events of a new machine for each subscription, which obeys commands in virtual time until it is unsubscribed. */
export function driven<C, E>(
  command$: Observable<C>,
  create: () => Machine<C, E>,
  scheduler: Marbles["scheduler"],
): Observable<E> {
  return new Observable((subscriber) => {
    const clock = createClock(scheduler);
    const driver = drive(create(), clock, (event) => subscriber.next(event));
    subscriber.add(command$.subscribe((command) => driver.apply(command)));
    subscriber.add(() => driver.stop());
  });
}
