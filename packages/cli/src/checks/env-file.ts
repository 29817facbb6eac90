import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'

/** Finds variables that count for this command, and that Node ignores in the file of its own `--env-file`. */
export function checkEnvFile({ envFile }: Facts): Finding[] {
  const early = envFile?.early ?? []
  if (early.length === 0) return []
  return [
    finding('env-file-ignored', 'info', early.join(' and '), {
      seen: `It is set only in the --env-file. This command applies it, but \`node --env-file\` does not: Node reads this variable before it reads the file.`,
      why: 'An application that is started with `node --env-file` runs without it.',
      fix: 'Set it in the environment that starts Node. Variables in a Docker or systemd env file are in that environment.',
    }),
  ]
}

/**
 * Returns what to do about variables of the `--env-file` that do not count as they stand there; '' if there are none.
 *
 * @param readFrom the variables of the credentials.
 */
export function envFileFix(readFrom: string, { envFile }: Facts): string {
  if (envFile === undefined) return ''
  const { overridden, cut } = envFile
  const isRead = (name: string): boolean => readFrom.split(', ').includes(name)
  return [
    ...overridden
      .filter(isRead)
      .map(
        (name) => `Unset ${name} in the shell first: its value there overrides the one in the --env-file. `,
      ),
    ...cut.filter(isRead).map((name) => `Put the value of ${name} in quotes first: it is cut at the #. `),
  ].join('')
}
