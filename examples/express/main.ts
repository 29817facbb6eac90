import type { AddressInfo } from 'node:net'
import { app } from './app.ts'
import { tokens } from './tokens.ts'

await tokens.warmUp()

const server = app.listen(Number(process.env['PORT'] ?? 3_000), () => {
  console.log(`http://localhost:${(server.address() as AddressInfo).port}`)
})

process.once('SIGTERM', () => {
  server.close(() => void tokens.close())
})
