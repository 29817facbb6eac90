import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { freePort } from './free-port.ts'

/** A series of an instant query: its labels and its value. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** A Prometheus server of its own, which looks at one endpoint five times a second. */
export interface PrometheusServer extends AsyncDisposable {
  /** Without a slash at its end. */
  readonly origin: string
  /** Returns what an instant query answers now; rejects with what Prometheus says of a wrong query. */
  query(promql: string): Promise<Sample[]>
  /** Returns what a range query answers: every series with its points, seconds and values. */
  queryRange(promql: string, range: { start: number; end: number; step: number }): Promise<Series[]>
}

/** A series of a range query. */
export interface Series {
  readonly labels: Readonly<Record<string, string>>
  readonly points: readonly (readonly [seconds: number, value: number])[]
}

/**
 * Starts Prometheus.
 *
 * @param target host and port of what it looks at, under `/metrics`.
 */
export async function startPrometheus(target: string): Promise<PrometheusServer> {
  const folder = mkdtempSync(join(tmpdir(), 'prometheus-'))
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const config = join(folder, 'prometheus.yml')
  writeFileSync(
    config,
    JSON.stringify({
      global: { scrape_interval: '200ms', scrape_timeout: '200ms' },
      scrape_configs: [{ job_name: 'application', static_configs: [{ targets: [target] }] }],
    }),
  )
  const child = spawn(
    'prometheus',
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  )
  const start: { failure?: string } = {}
  child.once('error', () => {
    start.failure = 'not installed: `npm test` installs one, or put `prometheus` on the PATH'
  })
  child.once('exit', (code) => (start.failure ??= `it ended with ${code}`))
  // a test run that is cut short leaves no server behind
  const killAtExit = (): boolean => child.kill('SIGKILL')
  process.on('exit', killAtExit)
  while (!(await isReady(origin)))
    if (start.failure !== undefined) throw new Error(`These tests need Prometheus: ${start.failure}`)

  async function ask<T>(path: string, parameters: Record<string, string>): Promise<readonly T[]> {
    const body = new URLSearchParams(parameters)
    const response = await fetch(`${origin}/api/v1/${path}`, { method: 'POST', body })
    const answer = (await response.json()) as Answer<T>
    if (answer.status !== 'success') throw new Error(`${parameters['query']}: ${answer.error}`)
    return answer.data.result
  }

  // Prometheus takes up to five seconds before it looks at a new target for the first time
  while ((await ask<{ value: Point }>('query', { query: 'up == 1' })).length === 0) await pause()

  return {
    origin,
    async query(promql) {
      const result = await ask<{ metric: Labels; value: Point }>('query', { query: promql })
      return result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }))
    },
    async queryRange(promql, range) {
      const [from, to, step] = [range.start, range.end, range.step].map(String) as [string, string, string]
      const result = await ask<{ metric: Labels; values: readonly Point[] }>('query_range', {
        query: promql,
        start: from,
        end: to,
        step,
      })
      return result.map(({ metric, values }) => ({
        labels: metric,
        points: values.map(([seconds, value]) => [seconds, Number(value)] as const),
      }))
    },
    async [Symbol.asyncDispose]() {
      process.off('exit', killAtExit)
      const exit = once(child, 'exit')
      child.kill('SIGKILL')
      await exit
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

type Labels = Readonly<Record<string, string>>
type Point = readonly [seconds: number, value: string]

interface Answer<T> {
  readonly status: 'success' | 'error'
  readonly error?: string
  readonly data: { readonly result: readonly T[] }
}

async function isReady(origin: string): Promise<boolean> {
  try {
    return (await fetch(`${origin}/-/ready`)).ok
  } catch {
    await pause()
    return false
  }
}

const pause = (): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, 50))
