/** Calls at once, then at most every `ms` with the last arguments. `flush` makes a pending call now, `cancel` none. */
export function throttle(call, ms) {
  let timer = null;
  let pending = null;
  const invoke = () => {
    const given = pending;
    pending = null;
    call(...given);
  };
  const next = () => {
    timer = pending === null ? null : setTimeout(next, ms);
    if (pending !== null) invoke();
  };
  const throttled = (...given) => {
    pending = given;
    if (timer === null) next();
  };
  throttled.flush = () => {
    if (pending !== null) invoke();
  };
  throttled.cancel = () => {
    clearTimeout(timer);
    timer = pending = null;
  };
  return throttled;
}
