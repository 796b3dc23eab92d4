#define MODULE
#include <linux/module.h>

#include <linux/rtf.h>
#include <asm/rt_irq.h>
#include <linux/mc146818rtc.h>

#define CMOS_IRQ 8

static int filter(int x)
{
    static int oldx;
    int ret;

    if (x & 0x80) {
        x = 382 - x;
    }
    ret = x > oldx;
    oldx = x;
    return ret;
}

void intr_handler(void) {
    char data;
    char temp;
    (void) CMOS_READ(RTC_REG_C);          /* clear IRQ */
    if (rtf_get(0, &data, 1) > 0) {
        data = filter(data);
        temp = inb(0x61);
        temp &= 0xfd;
        temp |= (data & 1) << 1;
        outb(temp, 0x61); /* out to the speaker */
    }
}

char save_cmos_A;
char save_cmos_B;

int init_module(void)
{
    char ctemp;
    rtf_create(0, 4000);

    /* turn the speaker on: */
    /* set the output of 8354's channel 2 to 1 */
    outb_p(inb_p(0x61)|3, 0x61);
    outb_p(0xb0, 0x43);
    outb_p(3, 0x42);
    outb_p(0, 0x42);

    request_RTirq(CMOS_IRQ, intr_handler);

    save_cmos_A = CMOS_READ(RTC_REG_A);
    save_cmos_B = CMOS_READ(RTC_REG_B);

    /* 32 kHz base; interrupt at 8192 Hz */
    CMOS_WRITE(0x23, RTC_REG_A);

    /* enable periodic interrupts */
    ctemp = CMOS_READ(RTC_REG_B);
    ctemp &= 0x8f;
    ctemp |= 0x40;
    CMOS_WRITE(ctemp, RTC_REG_B);

    (void) CMOS_READ(RTC_REG_C);    /* Clear the interrupt */

    return 0;
}

void cleanup_module(void)
{
    rtf_destroy(0);
    CMOS_WRITE(save_cmos_A, RTC_REG_A);
    CMOS_WRITE(save_cmos_B, RTC_REG_B);
    free_RTirq(8);
}

MODULE_LICENSE("GPL");
