import { Observable, Subscription } from "rxjs";
import type { OperatorFunction } from "rxjs";

/** What is given to whoever obeys commands. */
export interface Obedience<E> {
  readonly say: (event: E) => void;
  /** Gives it back; it ends with the whole, and is forgotten when it ends before. */
  readonly owned: (subscription: Subscription) => Subscription;
}

/**
 * An operator with a state of its own for each subscription: `begin` makes it and returns what obeys a command.
 *
 *     commands:  ─a──b─────c──|
 *     events:    ─x──yz────(y)|     none, one or more for a command, or later by a timer that is owned
 *
 * On complete, error and unsubscribe: ends all that is owned, and says nothing more.
 */
export function obeying<C, E>(
  begin: (given: Obedience<E>) => (command: C) => void,
): OperatorFunction<C, E> {
  return (command$) =>
    new Observable((subscriber) => {
      const all = new Subscription();
      const owned = (subscription: Subscription): Subscription => {
        all.add(subscription);
        subscription.add(() => all.remove(subscription));
        return subscription;
      };
      subscriber.add(all);
      const obey = begin({ say: (event) => subscriber.next(event), owned });
      subscriber.add(
        command$.subscribe({
          next: obey,
          error: (error: unknown) => subscriber.error(error),
          complete: () => subscriber.complete(),
        }),
      );
    });
}
