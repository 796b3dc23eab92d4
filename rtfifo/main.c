// SPDX-License-Identifier: GPL-2.0-only
/* RT-FIFOs: the module. */
#include <linux/module.h>
#include "rtfifo.h"

static unsigned int nfifos = 64;
module_param(nfifos, uint, 0444);
MODULE_PARM_DESC(nfifos, "FIFO numbers there are, 1 to 1024 (default 64)");

static int __init rtfifo_init(void)
{
	int ret;

	if (nfifos < 1 || nfifos > RTF_MAX_FIFOS) {
		pr_err("nfifos is %u, must be 1 to %u\n", nfifos, RTF_MAX_FIFOS);
		return -EINVAL;
	}
	ret = rtf_table_init(nfifos);
	if (ret)
		return ret;
	ret = rtf_status_init();
	if (ret)
		goto err_table;
	/* Last: from here on a process may open one. */
	ret = rtf_nodes_init();
	if (ret)
		goto err_status;
	return 0;

err_status:
	rtf_status_exit();
err_table:
	rtf_table_exit();
	return ret;
}

/* No file is open: each would hold us (see rtf_fops.owner). */
static void __exit rtfifo_exit(void)
{
	rtf_table_exit();
	rtf_status_exit();
	rtf_nodes_exit();
}

module_init(rtfifo_init);
module_exit(rtfifo_exit);
MODULE_LICENSE("GPL");
MODULE_VERSION(TACTUS_VERSION);
MODULE_DESCRIPTION("Tactus: FIFOs between RT code and Linux processes");
