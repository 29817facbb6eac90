import { app } from './app.ts'

console.log(await app.listen({ port: Number(process.env['PORT'] ?? 3_000) }))

process.once('SIGTERM', () => {
  void app.close()
})
