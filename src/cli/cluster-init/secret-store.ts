/** What the init Job needs of a cluster: to look for Secrets by name, and to make new ones. */
export type SecretData = Readonly<Record<string, string>>;

export type SecretStore = {
  /** Undefined where there is none of that name. */
  get(name: string): Promise<SecretData | undefined>;
  /** False where one of that name is there already, which is then left as it is. */
  create(name: string, data: SecretData): Promise<boolean>;
};
