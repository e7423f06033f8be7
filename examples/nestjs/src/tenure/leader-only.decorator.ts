import { Inject } from "@nestjs/common";
import { Leadership } from "./leadership.js";

const LEADERSHIP = Symbol("leadership");

interface Led {
  readonly [LEADERSHIP]: Leadership;
}

/**
 * Lets a method of a provider or controller run only while this process leads: otherwise it throws a ServiceUnavailableException. Its order among
 * other decorators does not matter.
 */
export function LeaderOnly() {
  return <T extends (...args: never[]) => Promise<unknown>>(
    target: object,
    _name: string | symbol,
    descriptor: TypedPropertyDescriptor<T>,
  ): void => {
    const method = descriptor.value as T;
    Inject(Leadership)(target, LEADERSHIP);
    const led = function (this: Led, ...args: never[]) {
      return this[LEADERSHIP].run(() => method.apply(this, args));
    };
    // What other decorators have said of the method (its route, its guards).
    for (const key of Reflect.getMetadataKeys(method)) Reflect.defineMetadata(key, Reflect.getMetadata(key, method), led);
    descriptor.value = led as unknown as T;
  };
}
