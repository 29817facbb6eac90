import 'reflect-metadata'
import type { INestApplication } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { AppModule } from './app.module.ts'

/** Starts the application, which ends in order at SIGTERM. */
export async function start(port = Number(process.env['PORT'] ?? 3_000)): Promise<INestApplication> {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] })
  app.enableShutdownHooks()
  await app.listen(port)
  return app
}

if (import.meta.main) await start()
