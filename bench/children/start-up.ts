// Imports packages in a process of its own, and makes a manager where one of them is core.

/** In milliseconds of CPU. */
export interface StartUpFigures {
  imported: number
  /** For the first manager. */
  made?: number
}

export interface StartUpOrder {
  /** What is there already. */
  readonly before: readonly string[]
  readonly imports: readonly string[]
}

const { before, imports } = JSON.parse(process.argv[2] ?? '') as StartUpOrder
// the first import of all pays for the loader
await import('node:http')
for (const name of before) await import(name)

const figures: StartUpFigures = {
  imported: await cpuTimeOf(async () => Promise.all(imports.map((name) => import(name)))),
}
if (imports.includes('@tokenlane/core')) {
  const { createTokenManager, generalIssuer } = await import('@tokenlane/core')
  figures.made = await cpuTimeOf(() =>
    createTokenManager({
      issuers: {
        general: generalIssuer({
          authUrl: 'https://auth.example.com',
          credentials: { clientId: 'client', clientSecret: 'secret' },
        }),
      },
      apis: [
        {
          baseUrl: 'https://api.example.com/',
          issuer: 'general',
          ratePolicy: { limits: [{ quota: 25, window: 1_000 }] },
        },
      ],
    }),
  )
}
console.log(JSON.stringify(figures))

async function cpuTimeOf(work: () => unknown): Promise<number> {
  const start = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1_000
}
