// Asks a node what go-ethereum's own client asks, with its strict decoders, and prints what it found.
// Usage: ethclient URL PRIVATE_KEY CREATION_CODE
package main

import (
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/ethereum/go-ethereum/ethclient/gethclient"
	"github.com/ethereum/go-ethereum/rpc"
	"github.com/ethereum/go-ethereum/trie"
)

type report struct {
	ChainID        string `json:"chainId"`
	Contract       string `json:"contract"`
	Balance        string `json:"balance"`
	Logs           int    `json:"logs"`
	BlocksAgree    bool   `json:"blocksAgree"`
	ReceiptsAgree  bool   `json:"receiptsAgree"`
	StorageProof   bool   `json:"storageProof"`
	AccessList     bool   `json:"accessList"`
	EstimateEnough bool   `json:"estimateEnough"`
	Heads          bool   `json:"heads"`
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	client, err := ethclient.DialContext(ctx, os.Args[1])
	check(err)
	key, err := crypto.HexToECDSA(os.Args[2][2:])
	check(err)
	found := report{}
	chainID, err := client.ChainID(ctx)
	check(err)
	found.ChainID = chainID.String()

	heads := make(chan *types.Header, 64)
	subscription, err := client.SubscribeNewHead(ctx, heads)
	check(err)
	defer subscription.Unsubscribe()

	owner := crypto.PubkeyToAddress(key.PublicKey)
	deployed := send(ctx, client, key, chainID, nil, common.FromHex(os.Args[3]))
	contract := deployed.ContractAddress
	found.Contract = contract.Hex()
	mint := call("mint(address,uint256)", owner, 1000)
	gas, err := client.EstimateGas(ctx, ethereum.CallMsg{From: owner, To: &contract, Data: mint})
	check(err)
	minted := send(ctx, client, key, chainID, &contract, mint)
	found.EstimateEnough = gas >= minted.GasUsed && minted.Status == types.ReceiptStatusSuccessful

	balance := crypto.Keccak256([]byte("balanceOf(address)"))[:4]
	data := append(balance, common.LeftPadBytes(owner.Bytes(), 32)...)
	result, err := client.CallContract(ctx, ethereum.CallMsg{To: &contract, Data: data}, nil)
	check(err)
	found.Balance = new(big.Int).SetBytes(result).String()
	logs, err := client.FilterLogs(ctx, ethereum.FilterQuery{
		FromBlock: big.NewInt(0),
		Addresses: []common.Address{contract},
	})
	check(err)
	found.Logs = len(logs)

	// ethclient itself hashes header and transactions of what it is given.
	block, err := client.BlockByHash(ctx, minted.BlockHash)
	check(err)
	byNumber, err := client.BlockByNumber(ctx, minted.BlockNumber)
	check(err)
	found.BlocksAgree = block.Hash() == minted.BlockHash && byNumber.Hash() == minted.BlockHash
	receipts, err := client.BlockReceipts(ctx, rpc.BlockNumberOrHashWithHash(minted.BlockHash, false))
	check(err)
	root := types.DeriveSha(types.Receipts(receipts), trie.NewStackTrie(nil))
	found.ReceiptsAgree = root == block.ReceiptHash()

	geth := gethclient.New(client.Client())
	proof, err := geth.GetProof(ctx, contract, []string{"0x0"}, nil)
	check(err)
	found.StorageProof = len(proof.AccountProof) > 0 && len(proof.StorageProof) == 1
	list, _, failure, err := geth.CreateAccessList(ctx, ethereum.CallMsg{
		From: owner, To: &contract, Data: mint,
	})
	check(err)
	found.AccessList = failure == "" && len(*list) == 1
	found.Heads = sees(ctx, heads, minted.BlockHash)
	check(json.NewEncoder(os.Stdout).Encode(found))
}

func send(
	ctx context.Context, client *ethclient.Client, key *ecdsa.PrivateKey, chainID *big.Int,
	to *common.Address, data []byte,
) *types.Receipt {
	nonce, err := client.PendingNonceAt(ctx, crypto.PubkeyToAddress(key.PublicKey))
	check(err)
	tip, err := client.SuggestGasTipCap(ctx)
	check(err)
	price, err := client.SuggestGasPrice(ctx)
	check(err)
	transaction, err := types.SignNewTx(key, types.LatestSignerForChainID(chainID), &types.DynamicFeeTx{
		ChainID: chainID, Nonce: nonce, GasTipCap: tip, GasFeeCap: price,
		Gas: 3_000_000, To: to, Data: data,
	})
	check(err)
	check(client.SendTransaction(ctx, transaction))
	for {
		receipt, err := client.TransactionReceipt(ctx, transaction.Hash())
		if err == nil {
			return receipt
		}
		if err != ethereum.NotFound {
			check(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func call(signature string, address common.Address, value int64) []byte {
	data := crypto.Keccak256([]byte(signature))[:4]
	data = append(data, common.LeftPadBytes(address.Bytes(), 32)...)
	return append(data, common.LeftPadBytes(big.NewInt(value).Bytes(), 32)...)
}

func sees(ctx context.Context, heads <-chan *types.Header, hash common.Hash) bool {
	for {
		select {
		case head := <-heads:
			if head.Hash() == hash {
				return true
			}
		case <-ctx.Done():
			return false
		}
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
