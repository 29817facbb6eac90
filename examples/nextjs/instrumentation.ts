/** Runs once when the server starts: a wrong secret shows in the log of the start, not in the first request. */
export async function register(): Promise<void> {
  if (process.env['NEXT_RUNTIME'] !== 'nodejs') return
  const { tokens } = await import('./lib/api.ts')
  await tokens()
    .warmUp()
    .catch((error: unknown) => console.error(error))
}
