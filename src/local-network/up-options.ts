/** The options of a local network: `quorate up` after its arguments were checked. */
export type UpOptions = {
  readonly root: string;
  /** 0 takes a free one. */
  readonly rpcPort: number;
  /** Undefined where the user gave none: the existing network decides. */
  readonly chainId: bigint | undefined;
  readonly timestamp: bigint | undefined;
  readonly timestampText: string | undefined;
  /** False also where the user gave none: the existing network decides. */
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
