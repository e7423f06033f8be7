import { type DynamicModule, Module } from "@nestjs/common";
import type { ElectorOptions } from "tenure";
import { ELECTOR_OPTIONS, Leadership } from "./leadership.js";

/** One election for the whole application: import `TenureModule.forRoot({ store, election })` once, inject {@link Leadership} anywhere. */
@Module({})
export class TenureModule {
  static forRoot(options: ElectorOptions): DynamicModule {
    return {
      module: TenureModule,
      global: true,
      providers: [{ provide: ELECTOR_OPTIONS, useValue: options }, Leadership],
      exports: [Leadership],
    };
  }
}
