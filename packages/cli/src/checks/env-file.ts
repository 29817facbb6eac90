import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'

/** Finds variables of the `--env-file` that this command does not use, or that Node's own option would not. */
export function checkEnvFile({ envFile }: Facts): Finding[] {
  if (envFile === undefined) return []
  return [
    ...ignored(envFile.overridden, {
      seen: 'The --env-file sets it to another value than the environment in which this command was started.',
      why: 'The environment overrides the file, as with `node --env-file`: changing the file changes nothing.',
      fix: 'If another finding is about it, unset or correct it in the environment first.',
    }),
    ...ignored(envFile.early, {
      seen: `It is set only in the --env-file. This command applies it, but \`node --env-file\` does not: Node reads this variable before it reads the file.`,
      why: 'An application that is started with `node --env-file` runs without it.',
      fix: 'Set it in the environment that starts Node. Variables in a Docker or systemd env file are in that environment.',
    }),
  ]
}

function ignored(names: readonly string[], texts: Pick<Finding, 'seen' | 'why' | 'fix'>): Finding[] {
  return names.length === 0 ? [] : [finding('env-file-ignored', 'info', names.join(' and '), texts)]
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
