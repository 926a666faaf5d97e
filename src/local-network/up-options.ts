/** What a local network is asked to be: `quorate up` after its arguments were checked. */
export type UpOptions = {
  readonly root: string;
  /** 0 takes a free one. */
  readonly rpcPort: number;
  /** Undefined where nothing was said: the network that is there decides. */
  readonly chainId: bigint | undefined;
  readonly timestamp: bigint | undefined;
  readonly timestampText: string | undefined;
  /** False where nothing was said, too: the network that is there decides. */
  readonly isWritePermissioned: boolean;
  readonly isReadPermissioned: boolean;
  /** Accounts of a new network besides the development accounts. */
  readonly allocFile: string | undefined;
  readonly isEphemeral: boolean;
  readonly isDetached: boolean;
  readonly isJson: boolean;
  readonly logLevel: string | undefined;
  readonly rejoining: ReadonlySet<string>;
  /** Undefined: without the log stack. */
  readonly logStack: LogStackPorts | undefined;
};

export type LogStackPorts = {
  readonly inputPort: number;
  readonly searchPort: number;
  readonly viewerPort: number;
};
