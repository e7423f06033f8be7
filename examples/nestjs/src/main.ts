import "reflect-metadata";
import { Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { zookeeper } from "tenure/zookeeper";
import { Invoices } from "./invoices.js";
import { TenureModule } from "./tenure/tenure.module.js";

@Module({
  imports: [
    TenureModule.forRoot({
      store: zookeeper(process.env.ZOOKEEPER ?? "127.0.0.1:2181"),
      election: "invoices",
      ...(process.env.ID && { id: process.env.ID }),
    }),
  ],
  providers: [Invoices],
})
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule);
// Without them SIGTERM would end the process at once, and the next in line would wait for the session to expire.
app.enableShutdownHooks();
