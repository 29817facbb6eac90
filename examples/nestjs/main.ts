import { start } from './start.ts'

await start(Number(process.env['PORT'] ?? 3_000))
