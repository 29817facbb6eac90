import { CannotLook } from '../exit-status.ts'
import type { Application, Source } from './application.ts'
import { loadApplication } from './load-application.ts'

/**
 * Returns the application, for commands that need its token manager.
 *
 * @throws CannotLook if the application is not found or cannot be loaded, or with the errors of all its options.
 */
export async function mustLoad(source: Source): Promise<Application> {
  const application = await loadApplication(source)
  if (!('refused' in application)) return application
  const messages = application.refused.map(({ message }) => message)
  throw new CannotLook([...messages, 'See tokenlane doctor'].join('\n'))
}
