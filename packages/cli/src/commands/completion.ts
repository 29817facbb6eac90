import type { Command } from 'commander'

export const shells = ['bash', 'zsh', 'fish'] as const

/** Returns the script by which a shell completes the commands and options of a program. */
export function completionScript(program: Command, shell: (typeof shells)[number]): string {
  const name = program.name()
  const commands = program.commands.map((command) => ({
    name: command.name(),
    options: command.options.flatMap(({ long }) => (long ? [long] : [])),
  }))
  const names = commands.map((command) => command.name).join(' ')
  if (shell === 'fish')
    return [
      `complete -c ${name} -n __fish_use_subcommand -a '${names}'`,
      ...commands.flatMap((command) =>
        command.options.map(
          (option) =>
            `complete -c ${name} -n '__fish_seen_subcommand_from ${command.name}' -l ${option.replace(/^--/, '')}`,
        ),
      ),
    ].join('\n')
  const cases = commands.map((command) => `    ${command.name}) words="${command.options.join(' ')}" ;;`)
  const bash = [
    `_${name}() {`,
    `  local words="${names}"`,
    '  [ "$COMP_CWORD" -gt 1 ] && case "${COMP_WORDS[1]}" in',
    ...cases,
    '    *) words="" ;;',
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    `complete -o default -F _${name} ${name}`,
  ]
  // zsh runs bash completions with `bashcompinit`
  return (shell === 'zsh' ? ['autoload -U +X bashcompinit && bashcompinit', ...bash] : bash).join('\n')
}
