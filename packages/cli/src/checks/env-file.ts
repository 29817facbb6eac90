import { finding, type Finding } from '../doctor/finding.ts'
import type { Facts } from '../facts/facts.ts'

/** Finds variables that count for this command, and that Node ignores in the file of its own `--env-file`. */
export function checkEnvFile({ earlyInFile: names }: Facts): Finding[] {
  if (names === undefined) return []
  return [
    finding('env-file-ignored', 'info', names, {
      seen: `Set in the --env-file alone. This command applies it, and \`node --env-file\` does not: Node reads it before the file.`,
      why: 'An application that is started like that runs without it.',
      fix: 'Set it in the environment that starts Node. Variables in a Docker or systemd env file are in that environment.',
    }),
  ]
}
